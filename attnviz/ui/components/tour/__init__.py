"""The tour's card, and the light on the part of the page that it is about."""
