// Any bytes as a machine file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hw/machine/config_error.h"
#include "hw/machine/config_reader.h"
#include "hw/machine/machine_config.h"

using namespace systole::machine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        const MachineConfig machine = read_machine(parse_json_object(text, "fuzz"), "fuzz");
        // What was accepted must be a machine that can be built and written down again.
        if (machine.weight_rate().bytes == 0 || machine.weight_rate().cycles == 0) std::abort();
        if (machine.host_read_rate().bytes == 0 || machine.tile_bytes() == 0) std::abort();
        if (to_json(machine) != to_json(read_machine(to_json(machine), "again"))) std::abort();
    } catch (const ConfigError&) {
    }
    return 0;
}
