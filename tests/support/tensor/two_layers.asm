# A layer of 4 x 4 on four rows, and a ReLU. The words of `in` are float32: four rows, then the weights 1 to 16.
.tensor_core 4 4 lanes=4
.buffer in constant 0 128
  .uint32 0x3f800000 0 0 0   0 0xbf800000 0 0   0 0 0x40000000 0   4*0x3f800000
  .uint32 0x3f800000 0x40000000 0x40400000 0x40800000   0x40a00000 0x40c00000 0x40e00000 0x41000000
  .uint32 0x41100000 0x41200000 0x41300000 0x41400000   0x41500000 0x41600000 0x41700000 0x41800000
.buffer out output 256 64
.chain relu; .source rows; .step constant 0; .step maximum 0 1; .result 2
.layer dense product; .layer relu chain
tag 1
infeed in hbm=0 rows=8 columns=4
sync.signal host_read sem=0; sync.wait dma_in sem=0
dma_in hbm=0 at=0 rows=8
sync.signal dma_in sem=1; sync.wait weights sem=1
load_weights src=4 depth=4 columns=4
sync.signal dma_in sem=2; sync.wait matrix sem=2
product dst=16 src=0 rows=4 depth=4 columns=4
tag 2
sync.signal matrix sem=3; sync.wait vector sem=3
chain 0 rows=4 columns=4 dst=16 a=16
tag 0
sync.signal vector sem=4; sync.wait dma_out sem=4
dma_out hbm=16 at=16 rows=4
sync.signal dma_out sem=5; sync.wait host_write sem=5
outfeed out hbm=16 rows=4 columns=4
interrupt
halt
