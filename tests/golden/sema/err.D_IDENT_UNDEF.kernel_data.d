/* @program */
BEGIN { trace(`averunnable); }
BEGIN { trace(genunix`lbolt); }
