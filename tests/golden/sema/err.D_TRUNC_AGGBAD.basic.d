BEGIN { trunc(@nosuch); }
