BEGIN { trace(timestmap); }
BEGIN { trace(probfunc); }
