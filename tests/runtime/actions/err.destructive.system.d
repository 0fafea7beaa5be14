/* Without -w nothing destructive is enabled. */
BEGIN { system("touch /tmp/never"); exit(0); }
