/* forgotten
BEGIN { trace(1); }
/* another */
