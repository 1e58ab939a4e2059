#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/run/record/bytes.h"
#include "sim/run/record/record.h"

namespace {

/// What can be read is written, and reads back to the same bytes.
template <class Struct>
void check(Struct (*read)(std::string_view), std::string_view bytes) {
    try {
        const std::string own = systole::run::to_bytes(read(bytes));
        if (systole::run::to_bytes(read(own)) != own) __builtin_trap();
    } catch (const systole::run::RecordError&) {  // the rule of what is no record
    }
}

}  // namespace

/// Any bytes, as those of a record and of a spec, which come from another process.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    check(systole::run::read_record, bytes);
    check(systole::run::read_spec, bytes);
    return 0;
}
