// Writing, and changing the file that is written to. Tested by tests/runtime/output.

#include "runtime/consumer/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dvm::runtime {
namespace {

constexpr size_t kMostKept = size_t{4} << 20;

// The memory of what is written stays for what comes next, unless it was much.
Status write(std::FILE* file, std::string& text) {
  errno = 0;
  const bool is_written = text.empty() || file == nullptr ||
                          (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0);
  const int reason = errno;
  text.clear();
  if (text.capacity() > kMostKept) text.shrink_to_fit();
  return is_written ? Status() : Error{fmt::format("could not write the output: {}", std::strerror(reason))};
}

}  // namespace

void Output::look_at_file() {
  const int descriptor = out_ ? fileno(out_) : -1;
  is_terminal_ = descriptor >= 0 && isatty(descriptor) == 1;
}

Output::~Output() {
  if (first_ < 0) return;
  (void)flush();
  restore();
  close(first_);
}

Status Output::flush() {
  shown_.reset();
  const Status output = write(out_, text_), notices = write(err_, notices_);
  if (failure_) failure_ = output ? notices : output;
  return failure_;
}

// The descriptor stays, so that children write to the same file.
Status Output::redirect(const std::string& path) {
  if (Status flushed = flush(); !flushed) return flushed;
  const int descriptor = out_ ? fileno(out_) : -1;
  const int file = descriptor < 0 ? -1 : open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return Error{std::strerror(descriptor < 0 ? EBADF : errno)};
  if (first_ < 0) first_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  const bool is_done = first_ >= 0 && dup2(file, descriptor) >= 0;
  const int reason = errno;
  close(file);
  look_at_file();
  return is_done ? Status() : Error{std::strerror(reason)};
}

void Output::restore() {
  if (first_ < 0) return;
  (void)flush();
  dup2(first_, fileno(out_));
  look_at_file();
}

// A pipe or a terminal cannot be emptied and is left alone.
void Output::truncate() {
  (void)flush();
  const int descriptor = out_ ? fileno(out_) : -1;
  if (descriptor >= 0 && ftruncate(descriptor, 0) == 0) std::rewind(out_);
}

}  // namespace dvm::runtime
