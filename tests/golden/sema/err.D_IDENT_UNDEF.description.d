/* @description */ BEGIN { trace(nosuch); } END /nosuch/ { }
