.array 4 3
.constant rows 8
.constant low -128
.buffer in input 0 rows
.tile 2 3
.repeat 3
  .uint8 1 255
.end
.unified_buffer 3 7
  .int8 5*-1 255
  .uint8 200
.accumulators 0 rows fill -5
.accumulators rows+1 1
  .uint32 0xffffffff; .int32 2*7
set output.minimum low; set activation.columns 3
activate acc=0 ub=0 rows=0 load
.repeat 2
  nop count=3
  .repeat 2
    read_host in+1 ub=rows+2 block=1
  .end
.end
halt
