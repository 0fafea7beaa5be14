#pragma once
// A recording of made-up firings of one probe, in a file that has no name any more. What is measured on it is replayed as any
// recording is.

#include <cstdint>
#include <memory>
#include <string>

#include "common/result.h"
#include "runtime/instrument/replay/recording.h"

namespace dvm::runtime {

class MadeUpRecording {
 public:
  // memory: bytes of a string at arg2, captured with each firing; 0: none. frames: of its user stack. arg2 and the frames have
  // symbols. Made once, and kept.
  static Result<std::shared_ptr<const MadeUpRecording>> of(uint64_t firings, unsigned memory = 0, unsigned frames = 0);
  // From its beginning.
  Result<std::unique_ptr<RecordingReader>> read() const { return reader_->again(); }
  // Of the file, for each firing.
  double event_bytes() const { return event_bytes_; }

 private:
  MadeUpRecording() = default;
  Status write(const std::string& path, uint64_t firings, unsigned memory, unsigned frames);

  std::unique_ptr<RecordingReader> reader_;
  double event_bytes_ = 0;
};

}  // namespace dvm::runtime
