BEGIN { @a = count(); trunc(); trunc(@a, 1, 2); }
