#pragma once
// The file of --trace-events. Its contents stay until tracing begins; a new file does not survive a run that never traced.

#include <cstdio>
#include <memory>
#include <string>

#include "dvm/common/result.h"

namespace dvm::cmd {

class EventsFile {
 public:
  // Without a path there is no file.
  Status open(const std::string& path);
  std::FILE* file() const { return file_.get(); }
  void begin();  // tracing does
  Status close();

 private:
  std::string path_;
  bool is_new_ = false, has_begun_ = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

}  // namespace dvm::cmd
