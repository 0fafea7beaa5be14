BEGIN { @a = count(); normalize(@a); denormalize(@a, 1); }
