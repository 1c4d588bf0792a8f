"""Playing games with policies: asking them, judging what they answer."""
