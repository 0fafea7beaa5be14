#pragma once
// A folder with a sys/cdefs.h that comes before the system's while cpp runs.

#include <string>

#include "dvm/common/result.h"

namespace dvm::cmd {

// Removed with its files at the end. A run that is killed cannot do that: the next one does.
class HeaderFolder {
 public:
  static Result<HeaderFolder> make();
  HeaderFolder(HeaderFolder&& other) noexcept;
  HeaderFolder(const HeaderFolder&) = delete;
  HeaderFolder& operator=(HeaderFolder&&) = delete;
  ~HeaderFolder();
  const std::string& path() const { return path_; }

 private:
  HeaderFolder(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::string path_;
  int lock_;  // held while the folder is in use; the kernel gives it up if dvm is killed
};

}  // namespace dvm::cmd
