// Any bytes as a report.json.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hw/machine/config_error.h"
#include "sim/view/page/page.h"

using namespace systole;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        const nlohmann::ordered_json report = page::parse_report(text, "fuzz");
        // What was accepted must be there again where it stands in a page, and end nothing of it.
        const std::string script = page::to_script_text(report);
        if (script.find('<') != std::string::npos) std::abort();
        if (page::parse_report(script, "again") != report) std::abort();
    } catch (const machine::ConfigError&) {
    }
    return 0;
}
