/* A clause without a body says that it fired. */
BEGIN {}
BEGIN { exit(0); }
END {}
