// A library whose data, some pages without a file, goes when it is closed.
__attribute__((visibility("default"))) char data_of_library[5 * 4096];
