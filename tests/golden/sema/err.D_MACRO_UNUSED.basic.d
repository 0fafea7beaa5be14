/* @warn-unused */
BEGIN { trace($1); }
