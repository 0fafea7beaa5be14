/* @description */ BEGIN { trace(nosuch); } END /other/ { }
