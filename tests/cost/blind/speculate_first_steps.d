#pragma D option nspec=4
int spec, done;

replay:::firing /!spec && !done && arg1 > 20/ { spec = speculation(); steps = 0; }
replay:::firing /spec && steps < 5/ { speculate(spec); steps++; printf("%s %d", execname, arg1); }
replay:::firing /spec && steps >= 5/ { commit(spec); spec = 0; done = 1; }
replay:::firing { @traced[done ? "after" : "before"] = count(); }
