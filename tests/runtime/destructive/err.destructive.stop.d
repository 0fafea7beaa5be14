/* Without -w nothing destructive is enabled. */
BEGIN { exit(0); }
END { stop(); }
