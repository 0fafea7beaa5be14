#pragma once
// Reports drops to the user: those since the last report, and a summary at the end if there was more than one report.

#include <utility>

#include "runtime/consumer/consumer.h"

namespace dvm::runtime {

class DropReports {
 public:
  explicit DropReports(Consumer& consumer) : consumer_(consumer) {}

  void report(Drops now) {
    reports_ += consumer_.report_drops(reported_, now);
    reported_ = std::move(now);
  }
  void sum_up() {
    if (reports_ > 1) consumer_.notice(drops_summary(reported_));
  }

 private:
  Consumer& consumer_;
  Drops reported_;
  unsigned reports_ = 0;
};

}  // namespace dvm::runtime
