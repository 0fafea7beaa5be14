/* @refuse-unused */
BEGIN { trace($1); }
