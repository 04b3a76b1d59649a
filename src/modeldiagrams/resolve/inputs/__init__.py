"""The search for inputs: first guesses, and what each failed pass asks for."""
