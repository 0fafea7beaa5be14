BEGIN { x = .5; x = 1.; x = 1e5; x = 2f; x = 1.5e-3; }
