#pragma once
// --live: a thread draws snapshots on the terminal of standard output, each over the one before. What dvm prints meanwhile on
// standard output, and on standard error if that is a terminal, waits in unnamed files until the drawing ends.

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

  // Fails if standard output is no terminal, or if no pseudo-terminal can be made for programs.
  Status open();
  // For programs that dvm starts: what they write appears above the drawing.
  int program_terminal() const;
  // The first call begins the drawing. Later ones only hand over the snapshot.
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
