"""How texts are read: sentences as evidence, values and what follows from them, windows, the encoder that judges."""
