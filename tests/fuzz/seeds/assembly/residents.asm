.tensor_core 8 8 lanes=8
.model append batch=1 inferences=1
.input past shape=2x3x8 type=float32
.input new shape=2x1x8 type=float32
.output present shape=2x4x8 type=float32
.buffer past input 0x0 192
.buffer new input 0x100 64
.buffer present output 0x200 256
.resident input 0 2 4 3 1 hbm=16 columns=8
.resident output 0 8 1 hbm=16 columns=8
.constant token 3
infeed new hbm=100 rows=2 columns=8
sync.signal host_read sem=0
sync.wait dma_in sem=0
set dma.hbm_rows 1
set dma.memory_rows 1
dma_in hbm=100 at=0 rows=1 blocks=2
sync.signal dma_in sem=1
sync.wait dma_out sem=1
set dma.hbm_rows 4
dma_out hbm=token+16 at=0 rows=1 blocks=2
halt
