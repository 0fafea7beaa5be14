/* What a wrong assignment would have declared is not called unknown afterwards. */
BEGIN { x = "a" && 1; a[1] = !"b"; trace(x); trace(a[1]); }
