#include "compiler/target/tpu_v1/family.h"

#include "compiler/target/tpu_v1/compile.h"
#include "compiler/target/tpu_v1/lowering/lowering.h"
#include "compiler/target/tpu_v1/target.h"

namespace systole::tpu_v1 {

const target::Family family{
    .computes_on_integers = true,
    .compile = [](const ir::Graph& prepared, const machine::MachineConfig& machine,
                  const mapping::Options& options) { return compile(lower(prepared), machine, options); },
    .machine_key = [](const machine::MachineConfig& machine,
                      const machine::Mapping& mapping) { return key_of(target_of(machine, mapping)); }};

}  // namespace systole::tpu_v1
