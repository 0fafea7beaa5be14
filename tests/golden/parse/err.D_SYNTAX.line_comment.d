// not D
BEGIN { trace(1); }
END { trace(1); // nor this
}
