"""Other people's learners on this project's environments: short scripts to read and to copy from."""
