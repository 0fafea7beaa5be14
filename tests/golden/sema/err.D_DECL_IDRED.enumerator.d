enum e { first, trace, strlen, last };
