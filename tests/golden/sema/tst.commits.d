BEGIN { commit(1); discard(3); commit(2); }
