print("porchlight")
