extension Reports {
    /// Countries by their two letters (ISO 3166-1 alpha-2), whatever the store calls them.
    public enum Country {
        /// The App Store names a storefront by three letters.
        ///
        /// - Returns: the three letters where they are unknown, so that nothing is hidden.
        public static func code(ofStorefront storefront: String) -> String {
            alpha2[storefront] ?? storefront
        }

        private static let alpha2: [String: String] = {
            var codes: [String: String] = [:]
            for pair in table.split(whereSeparator: \.isWhitespace) {
                codes[String(pair.prefix(3))] = String(pair.suffix(2))
            }
            return codes
        }()

        /// The 175 storefronts of the App Store.
        private static let table = """
            AFGAF AGOAO AIAAI ALBAL AREAE ARGAR ARMAM ATGAG AUSAU AUTAT AZEAZ BELBE BENBJ BFABF
            BGRBG BHRBH BHSBS BIHBA BLRBY BLZBZ BMUBM BOLBO BRABR BRBBB BRNBN BTNBT BWABW CANCA
            CHECH CHLCL CHNCN CIVCI CMRCM CODCD COGCG COLCO CPVCV CRICR CYMKY CYPCY CZECZ DEUDE
            DMADM DNKDK DOMDO DZADZ ECUEC EGYEG ESPES ESTEE FINFI FJIFJ FRAFR FSMFM GABGA GBRGB
            GEOGE GHAGH GMBGM GNBGW GRCGR GRDGD GTMGT GUYGY HKGHK HNDHN HRVHR HUNHU IDNID INDIN
            IRLIE IRQIQ ISLIS ISRIL ITAIT JAMJM JORJO JPNJP KAZKZ KENKE KGZKG KHMKH KNAKN KORKR
            KWTKW LAOLA LBNLB LBRLR LBYLY LCALC LKALK LTULT LUXLU LVALV MACMO MARMA MDAMD MDGMG
            MDVMV MEXMX MKDMK MLIML MLTMT MMRMM MNEME MNGMN MOZMZ MRTMR MSRMS MUSMU MWIMW MYSMY
            NAMNA NERNE NGANG NICNI NLDNL NORNO NPLNP NRUNR NZLNZ OMNOM PAKPK PANPA PERPE PHLPH
            PLWPW PNGPG POLPL PRTPT PRYPY QATQA ROURO RUSRU RWARW SAUSA SENSN SGPSG SLBSB SLESL
            SLVSV SRBRS STPST SURSR SVKSK SVNSI SWESE SWZSZ SYCSC TCATC TCDTD THATH TJKTJ TKMTM
            TONTO TTOTT TUNTN TURTR TWNTW TZATZ UGAUG UKRUA URYUY USAUS UZBUZ VCTVC VENVE VGBVG
            VNMVN VUTVU XKSXK YEMYE ZAFZA ZMBZM ZWEZW
            """
    }
}
