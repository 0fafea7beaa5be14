#pragma once
// --live: draws snapshots on the terminal of standard output, in a thread of its own, in place of one another. What dvm prints
// meanwhile on standard output, and on standard error if that is a terminal, waits in files without a name until the drawing
// ends.

#include <memory>

#include "dvm/common/result.h"
#include "runtime/consumer/metrics.h"

namespace dvm::exporting {

class LiveScreen {
 public:
  LiveScreen();
  ~LiveScreen();  // ends
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // An error: standard output is no terminal, or programs cannot have one of their own.
  Status open();
  // For programs that dvm starts: what they write appears above the drawing.
  int program_terminal() const;
  // The first begins. Later ones only hand the snapshot over.
  void publish(std::shared_ptr<const runtime::Snapshot> snapshot);
  // Removes the drawing, and prints what has waited.
  void end();
  // Prints what was written since then to the files, which freopen() may have kept open.
  void print_rest();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dvm::exporting
