// Covered by tests/runtime/scenarios/test_trace_events.py.

#include "cmd/events_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace dvm::cmd {
namespace {

// Why a write has failed: for the same reason as one more.
int problem_of(int fd) { return write(fd, "\n", 1) < 0 ? errno : EIO; }

}  // namespace

Status EventsFile::open(const std::string& path) {
  if (path.empty()) return {};
  path_ = path;
  is_new_ = access(path.c_str(), F_OK) != 0;
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd >= 0) file_.reset(fdopen(fd, "w"));
  if (!file_) return Error{fmt::format("failed to open {}: {}", path, std::strerror(errno))};
  return {};
}

void EventsFile::begin() {
  has_begun_ = true;
  if (file_) (void)!ftruncate(fileno(file_.get()), 0);  // a pipe has nothing to cut
}

Status EventsFile::close() {
  if (!file_) return {};
  const bool has_failed = std::ferror(file_.get()) != 0;
  const int problem = has_failed ? problem_of(fileno(file_.get())) : 0;
  const bool is_closed = std::fclose(file_.release()) == 0;
  if (has_failed) errno = problem;
  if (is_new_ && !has_begun_) unlink(path_.c_str());
  if (has_failed || !is_closed) return Error{fmt::format("could not write {}: {}", path_, std::strerror(errno))};
  return {};
}

}  // namespace dvm::cmd
