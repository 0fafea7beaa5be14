#pragma once
// A folder with a sys/cdefs.h that comes before the system's while cpp runs.

#include <string>

#include "dvm/common/result.h"

namespace dvm::cmd {

// The destructor removes the folder and its files. What a killed run leaves behind is removed by the next run.
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
