// Covered by tests/runtime/scenarios/test_live.py, test_html.py, test_prometheus.py and test_otlp.py.

#include "cmd/exporting.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "cmd/command.h"
#include "cmd/embedded.h"
#include "cmd/waiting.h"
#include "cmd/write_whole.h"
#include "export/live_screen.h"
#include "export/metrics_server.h"
#include "export/otlp_exporter.h"

namespace dvm::cmd {
namespace {

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

runtime::Metric lost_metric(const exporting::OtlpLosses& losses) {
  runtime::Metric lost = runtime::labelled_metric("otlp_lost", "Records, snapshots and values that the collector did not get",
                                                  runtime::MetricKind::counter, {"what", "reason"});
  add_point(lost, {"records", "queue_full"}, losses.queue_full);
  add_point(lost, {"records", "rejected"}, losses.rejected);
  add_point(lost, {"snapshots", "rejected"}, losses.snapshots);
  add_point(lost, {"values", "rejected"}, losses.points);
  return lost;
}

}  // namespace

void add_export_options(CLI::App& command, ExportOptions& options) {
  command.add_flag("--live", options.live, "Draw aggregations on the terminal while tracing, the largest rows first, with rates");
  command.add_option("--html", options.html, "Write a page with tables, charts and costs of the run into this file")
      ->type_name("FILE");
  command.add_option("--prometheus", options.prometheus, "Serve aggregations as metrics for Prometheus at HOST:PORT")
      ->type_name("ADDRESS");
  command
      .add_option("--otlp", options.otlp, "Send aggregations as metrics, and records as logs, to this OpenTelemetry collector")
      ->type_name("URL");
}

struct Exporting::Impl final : runtime::Exporter, runtime::RecordReader {
  std::optional<exporting::LiveScreen> screen;
  std::optional<exporting::MetricsServer> server;
  std::optional<exporting::OtlpExporter> otlp;
  exporting::LogRecords logs;
  uint64_t begin = 0;  // walltimestamp of the first snapshot
  bool has_ended = false;
  std::string html;  // file for a page; empty: none
  view::History history;
  std::shared_ptr<const runtime::Snapshot> last;

  void publish(runtime::Snapshot snapshot) override {
    runtime::Metric build = runtime::labelled_metric("build_info", "The version of dvm", runtime::MetricKind::gauge, {"version"});
    add_point(build, {DVM_VERSION}, uint64_t{1});
    snapshot.metrics.push_back(std::move(build));
    if (begin == 0) begin = snapshot.time;
    if (otlp) snapshot.metrics.push_back(lost_metric(otlp->losses())), snapshot.metrics.back().since = begin;
    const auto shared = std::make_shared<const runtime::Snapshot>(std::move(snapshot));
    if (!html.empty()) history.add(*shared), last = shared;
    if (screen && !has_ended) screen->publish(shared);
    if (server) server->publish(shared);
    if (otlp) otlp->publish(shared);
  }
  runtime::SnapshotParts wanted() const override {
    return {.totals = !html.empty(), .points = screen || server || otlp, .is_last = false};
  }
  void end() override {
    has_ended = true;
    if (screen) screen->end();
  }
  void read(runtime::RecordCopy copy) override { otlp->read(logs.make(std::move(copy))); }
};

Exporting::Exporting() : impl_(std::make_shared<Impl>()) {}
Exporting::~Exporting() = default;

Status Exporting::open(const ExportOptions& options) {
  impl_->html = options.html;
  if (options.live) {
    if (Status opened = impl_->screen.emplace().open(); !opened) return opened;
  }
  if (!options.otlp.empty()) {
    if (Status checked = exporting::HttpPost::check(options.otlp); !checked) return checked;
    const exporting::HttpSettings http{environment("OTEL_EXPORTER_OTLP_HEADERS"), environment("OTEL_EXPORTER_OTLP_CERTIFICATE")};
    impl_->otlp.emplace(options.otlp, http, exporting::OtlpResource{DVM_VERSION, host_name()},
                        [](const std::string& message) { tell("{}", message); });
  }
  if (!options.prometheus.empty()) {
    if (Status opened = impl_->server.emplace().open(options.prometheus); !opened) return opened;
    tell("serving metrics at {}", impl_->server->url());
  }
  if (impl_->otlp) impl_->otlp->start();
  return {};
}

int Exporting::program_terminal() const { return impl_->screen ? impl_->screen->program_terminal() : -1; }

std::shared_ptr<runtime::Exporter> Exporting::exporter() const {
  const bool is_wanted = impl_->screen || impl_->server || impl_->otlp || !impl_->html.empty();
  return is_wanted ? impl_ : nullptr;
}
std::shared_ptr<runtime::RecordReader> Exporting::record_reader() const { return impl_->otlp ? impl_ : nullptr; }

std::string_view page_shell() {
  const std::span<const EmbeddedFile> files = embedded_files();
  return std::find_if(files.begin(), files.end(), [](const EmbeddedFile& file) { return file.folder == "page"; })->text;
}

namespace {

// "@NAME" of the aggregation that is exported under this name.
std::string title_of(const runtime::Snapshot& snapshot, const std::string& name) {
  for (const runtime::Metric& metric : snapshot.metrics)
    if (metric.is_aggregation && metric.name == name) return metric.help.substr(0, metric.help.find(' '));
  return name;
}

// Says which tables of the page are not whole.
void tell_left_out(const runtime::Snapshot* last) {
  if (last == nullptr) return;
  for (const runtime::Metric& metric : last->metrics) {
    if (metric.name != "aggregation_keys_left_out") continue;
    for (const runtime::Point& point : metric.points)
      if (const double keys = runtime::as_double(point.value); keys > 0)
        tell("the page leaves out {:.0f} keys of {} ({})", keys, title_of(*last, point.labels->at(0)), point.labels->at(1));
  }
}

}  // namespace

Status Exporting::write_page(const std::string& account, std::vector<view::PageFlame> flames) {
  if (impl_->html.empty()) return {};
  const view::PageContents contents{DVM_VERSION, impl_->last.get(), &impl_->history, account, std::move(flames)};
  tell_left_out(impl_->last.get());
  const WaitMessage waiting("writing the page");
  return write_whole(view::page(page_shell(), contents), impl_->html);
}

bool Exporting::finish() {
  if (impl_->screen) std::fflush(stdout), impl_->screen->print_rest();
  if (!impl_->otlp) return true;
  const exporting::OtlpLosses losses = [this] {
    const WaitMessage waiting("sending the remaining data to the collector");
    return impl_->otlp->finish();
  }();
  if (losses.any()) tell("not exported: {}", exporting::losses_text(losses));
  return !losses.any();
}

}  // namespace dvm::cmd
