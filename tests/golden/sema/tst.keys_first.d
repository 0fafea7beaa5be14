BEGIN { x[i++] = i; y[j = 2, k++] = j + k; self->z[m++] = m; }
