#include "Support/Log.h"

#include "spdlog/sinks/basic_file_sink.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

using namespace carve;

static std::shared_ptr<spdlog::logger> Logger;

llvm::Error carve::openLog(llvm::StringRef Path) {
  try {
    spdlog::sink_ptr Sink;
    if (Path == "-")
      Sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    else
      Sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(Path.str());
    Logger = std::make_shared<spdlog::logger>("carve", Sink);
  } catch (const spdlog::spdlog_ex &E) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "cannot open the log %s: %s",
                                   Path.str().c_str(), E.what());
  }
  Logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %P %v");
  Logger->flush_on(spdlog::level::info);
  return llvm::Error::success();
}

bool carve::logging() { return Logger != nullptr; }

void carve::logLine(const llvm::Twine &Message) {
  if (Logger)
    Logger->info(Message.str());
}
