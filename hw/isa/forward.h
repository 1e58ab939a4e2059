#pragma once

// Forward declarations for the headers of the instructions.
namespace systole::isa {

class FieldVisitor;
class Registers;
class Footprint;
struct Geometry;

}  // namespace systole::isa
