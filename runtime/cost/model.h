#pragma once
// The cost model: Tao and Yang, "Performance Model of Dynamic Tracing System", Computer Engineering 35(10), 2009. Its equations,
// each as a function that can be held beside it; docs/cost-model.md has them as formulas. All costs are in clocks of the
// profile's machine, with what they may be off.
//
//   (1)     flow.h      what a firing costs besides its ECBs, by the source that it comes from
//   (2) (3) ecb.h       a predicate; the actions of a clause
//   (4)     firing.h    a firing: flow and its ECBs
//   (5) (6) consumer.h  one copy-out of the buffers; the consumer, by the second
//   (7) (8) total.h     a whole run, and what of it is user and what system time

#include "runtime/cost/consumer.h"
#include "runtime/cost/ecb.h"
#include "runtime/cost/firing.h"
#include "runtime/cost/flow.h"
#include "runtime/cost/total.h"
