"""Reading text exactly: sentences, words, quantities, dates, names, negation, quotes; nothing is downloaded."""
