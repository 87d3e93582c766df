"""Damaging a skill on purpose: which of its instructions does the suite test?"""
