"""How a claim is read beside a text: values and what follows from them, and the encoders that judge."""
