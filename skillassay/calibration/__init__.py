"""The judge against people: labels, how they are made, what they say of a judge, and for which judge that counts."""
