#pragma once
// --live, --html, --prometheus and --otlp of a run: where its aggregations and records go while it traces.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "view/page.h"

namespace CLI {
class App;
}
namespace dvm::runtime {
class Exporter;
class RecordReader;
}  // namespace dvm::runtime

namespace dvm::cmd {

struct ExportOptions {
  bool live = false;       // draw aggregations on the terminal
  std::string html;        // file for a page; empty: none
  std::string prometheus;  // address to serve metrics at; empty: none
  std::string otlp;        // URL of a collector; empty: none
};

void add_export_options(CLI::App& command, ExportOptions& options);

// The page of --html, without data.
std::string_view page_shell();

class Exporting {
 public:
  Exporting();
  ~Exporting();
  Exporting(const Exporting&) = delete;
  Exporting& operator=(const Exporting&) = delete;

  // Looks for a terminal, listens at the address, and checks the URL.
  Status open(const ExportOptions& options);
  // Null: there is nothing to export to.
  std::shared_ptr<runtime::Exporter> exporter() const;
  std::shared_ptr<runtime::RecordReader> record_reader() const;
  // Stands in for the terminal of programs that dvm starts; -1: nothing does.
  int program_terminal() const;
  // After the run, for --html: writes the page.
  Status write_page(const std::string& account, std::vector<view::PageFlame> flames);
  // After the run: sends what is left. False: something was lost, and that was said.
  bool finish();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace dvm::cmd
