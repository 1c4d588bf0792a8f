"""The rules clause by clause: for each one a state just inside and one just outside, built as positions."""
