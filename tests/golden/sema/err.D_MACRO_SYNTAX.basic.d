/* the third argument is "a b" */
BEGIN { trace($3); }
