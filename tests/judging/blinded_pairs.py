"""A hundred pairs of answers made by hand: what a response says, what the documents say, whether it is the same."""

from __future__ import annotations

SAME: tuple[tuple[str, str], ...] = (
    ("10k", "10,000"), ("10k", "ten thousand"), ("10,000", "ten thousand"), ("10000", "1e4"), ("100,000", "1e5"),
    ("1.5e3", "1,500"), ("10", "10.0"), ("4", "4.0"), ("-5", "−5"), ("-5", "minus five"), ("one-third", "33.3 %"),
    ("1/3", "33.3%"), ("a third", "33 percent"), ("half", "50 %"), ("½", "0.5"), ("two thirds", "2/3"),
    ("1 in 5", "20 %"), ("0.25", "25 %"), ("three quarters", "75 percent"), ("10 %", "10 percent"),
    ("$1.2M", "1,200,000 dollars"), ("$1.2 million", "$1,200,000"), ("1.2 million USD", "US$1.2m"),
    ("€5bn", "5 billion euros"), ("£3,000", "3 thousand pounds sterling"), ("50 cents", "$0.50"),
    ("$14", "14 dollars"), ("1.2B", "1,200,000,000"), ("5 km", "5,000 m"), ("5 kilometres", "5 km"),
    ("2 hours", "120 minutes"), ("90 minutes", "1.5 hours"), ("1 kg", "1000 g"), ("32 °F", "0 °C"),
    ("two weeks", "14 days"), ("1 GB", "1,000 MB"), ("2 decades", "20 years"), ("5-10", "5 to 10"),
    ("between 5 and 10", "5–10"), ("$5-10 million", "$5 million to $10 million"), ("5-10 %", "5 % to 10 %"),
    ("17:00-21:00", "5 PM - 9 PM"), ("5-9 pm", "17:00 to 21:00"), ("9 a.m.", "09:00"), ("5:30 PM", "17:30"),
    ("at noon", "12 noon"), ("about 500", "512"), ("nearly 1.2 million", "1,187,000"), ("1.2 million", "1,187,000"),
    ("roughly 3.1 miles", "5 km"), ("more than 500", "over 500"), ("more than 500", "512"),
    ("at least 3", "3 or more"), ("500+", "at least 500"), ("1973", "1973"), ("1937", "3 May 1937"),
    ("3 May 1937", "May 3, 1937"), ("May 3, 1937", "1937-05-03"), ("the 1990s", "1990s"),
    ("1990-1995", "1990 to 1995"), ("eighteenth century", "18th century"), ("3rd", "third"), ("threefold", "3 times"),
    ("10", "10 km"), ("$5", "5"), ("4 out of 5 stars", "4.0"), ("4/5", "4"), ("3", "3rd"), ("twelve", "a dozen"),
    ("Paris", "paris"), ("the Golden Gate Bridge", "Golden Gate Bridge"),
)  # fmt: skip
"""The documents bear the response out."""

DIFFERENT: tuple[tuple[str, str], ...] = (
    ("10k", "10"), ("10", "10 %"), ("0.05", "0.1"), ("10,000", "10,001"), ("1e5", "1e4"), ("-5", "5"),
    ("1.2 million", "1.2 billion"), ("$1.2M", "€1.2M"), ("$1.2M", "$1.3M"), ("5 km", "5 miles"), ("5 kg", "5 tonnes"),
    ("5 km", "5 hours"), ("one-third", "30 %"), ("10,345", "10k"), ("512", "about 600"), ("5-10", "5-11"),
    ("5-10", "7"), ("7", "5-10"), ("more than 500", "fewer than 500"), ("17:00-21:00", "17:30-23:00"),
    ("5 pm", "5 am"), ("5", "5 pm"), ("1937", "1973"), ("3 May 1937", "1937"), ("3 May 1937", "4 May 1937"),
    ("18th century", "19th century"), ("2 hours", "2 days"), ("4 out of 5 stars", "4.5"), ("Paris", "Lyon"),
)  # fmt: skip
"""They do not."""
